//! Korean. A word is looked up by how it begins, for particles follow it; names cannot be told from other words.

use super::Lexicon;

pub(super) const LEXICON: Lexicon = Lexicon {
    code: "ko",
    time: "어제 오늘 내일 모레 그저께 어젯밤 지난주 이번주 다음주 지난달 이번달 다음달 작년 \
        올해 내년 재작년 아침 저녁 오전 오후 주말 월요일 화요일 수요일 목요일 금요일 토요일 \
        일요일 시간 개월 최근 방금 여름 가을 겨울 지난 매일 매주 매년 크리스마스 설날 추석",
    kin: "엄마 아빠 어머니 아버지 언니 누나 오빠 여동생 남동생 동생 아들 아내 남편 친구 가족 \
        부모 아이 할머니 할아버지 이모 고모 삼촌 사촌 조카 남자친구 여자친구 약혼자 동료 \
        상사 멘토 이웃 선생님 의사",
    when: "언제 며칠 몇시 몇년 몇월",
    place: "어디",
    who: "누구 누가 누굴",
    which: "무슨 어느 어떤 무엇 뭐 뭘",
    how: "몇 얼마나",
    named: "도시 책 이름 나라 곳 노래 영화 게임 회사 밴드 학교 대학 식당 호텔",
    times: "시에 시간 시부터 일에 일간 월에 년에 년간 년도 개월 주일 요일 오래 자주 날 날짜",
    particles: "은 는 을 를 이 가 의 에 서 로 으 도 와 과 랑 고 다 요 나 까 니 습 입 합 했 하 해 한 할 있 없 었 \
        았 였 어 디 언 제 누 구 무 엇 슨 떤 뭐 인 게 네 죠 세 줘 두 둘 셋 넷",
    ..Lexicon::NOTHING
};
