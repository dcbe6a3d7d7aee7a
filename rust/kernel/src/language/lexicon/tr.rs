//! Turkish. Its words are looked up by how they begin, for endings follow them.

use super::Lexicon;
use super::claims::Claims;

pub(super) const LEXICON: Lexicon = Lexicon {
    code: "tr",
    months: [
        "#ocak ocakta ocaktan",
        "şubat şubatta şubattan",
        "#mart martta marttan",
        "nisan nisanda nisandan",
        "mayıs mayısta mayıstan",
        "haziran haziranda hazirandan",
        "temmuz temmuzda temmuzdan",
        "ağustos ağustosta ağustostan",
        "eylül eylülde eylülden",
        "#ekim ekimde ekimden",
        "kasım kasımda kasımdan",
        "#aralık",
    ],
    conditions: "before: ~önce | until: ~kadar | since: ~beri ~itibaren | after: ~sonra | beginning: başı başında \
        başına | middle: ortası ortasında ortasına | end: sonu sonunda sonuna | newest: en_son son_kez | \
        oldest: ilk_başta ilk_olarak başlangıçta | asks: ne nerede nereye kim ile hangi neydi",
    claims: Claims {
        now: "artık şimdi şu_anda bundan_böyle bugünden_itibaren itibaren halen güncel_olarak",
        ends: "artık…değil artık…yok artık…mıyor artık…miyor artık…muyor artık…müyor artık…maz \
            artık…mez bıraktı bırakmış vazgeçti artık_kullanmıyor artık_çalışmıyor artık_içmiyor \
            artık_yaşamıyor kullanmıyor_artık",
        disposes: "sattı satıldı kaybetti attı iptal öldü vefat silindi sildi iade bağışladı",
        closes: "tamamlandı bitti bitirdi kapandı kapatıldı düzeltildi onarıldı çözüldü iyileşti \
            mezun boşandı kovuldu",
        changes: "taşındı taşınmış geçti geçildi geçirildi değişti değiştirildi değiştirdi \
            değiştirdik yükseltildi yükseldi düşürüldü düştü artırıldı arttı azaltıldı azaldı \
            güncellendi alındı ertelendi kaydırıldı devredildi devraldı oldu çıkarıldı çıktı \
            indirildi terfi",
        begins: "başladı aldı edindi evlendi nişanlandı işe_girdi yeni",
        leaves: "ayrıldı istifa işten_ayrıldı",
        corrects: "aslında düzeltme yanlış yanlışlıkla hata doğrusu yanılmışım meğer",
        replaces: "yerine",
        contrasts: "ama değil",
        adds: "ayrıca da de dahi ilaveten ikinci başka bir_de hem ek_olarak",
        hedges: "belki muhtemelen galiba eğer ise olabilir istiyor planlıyor düşünüyor diyor \
            söyledi söylüyor söylentiye göre sanırım umuyor acaba mı mi mu mü iddia öneriyor \
            görünüyor sanki",
        temporary: "bugün yarın dün bu_hafta geçen_hafta gelecek_hafta bu_ay geçici şimdilik \
            cumaya_kadar pazartesiye_kadar tatilde misafir hafta_sonu bir_haftalığına kadar",
        partly: "sadece yalnızca bazen sık_sık genellikle hariç dışında çoğunlukla kısmen nadiren \
            sırasında iken",
        denies: "değil yok hayır asla hiç olmadan",
        from: "'den 'dan 'ten 'tan",
        to: "'e 'a 'ye 'ya",
        user: "kullanıcı kullanıcının kullanıcıya kullanıcıyı",
        be: "dir dır dur dür tir tır idi olan",
        have: "var sahip sahiptir",
        prepositions: "'da 'de 'ta 'te ile için gibi kadar sonra önce karşı doğru üzerinde üzerine altında içinde",
        function: "'ın 'in 'un 'ün 'nın 'nin 'nun 'nün 'yı 'yi 'yu 'yü 'ı 'i 'u 'ü 'lı 'li ve veya ya ki o onun onlar onların ben sen biz siz benim bizim çok daha en her",
        owners: "onun onların benim bizim senin sizin bu şu",
        indefinite: "bir birkaç bazı birçok",
        kin: "kardeş* ağabey* abla* anne* baba* oğlu oğlum kızı eşi eşim kocası karısı arkadaş* \
            komşu* amca* dayı* teyze* hala* büyükanne* büyükbaba* dede* nine* kuzen* köpe* kedi* \
            çocu* müşteri* misafir* yeğen*",
        many: "sever seviyor bilir biliyor konuşuyor konuşur oynuyor oynar okuyor okur dinliyor \
            dinler izliyor yiyor içiyor içer yer çalıyor çalar topluyor destekliyor ziyaret \
            öğreniyor korkuyor alerji* nefret tavsiye gidiyor",
        one: "yaşıyor oturuyor çalışıyor kullanıyor kullanır başlıyor başlar bitiyor biter \
            açılıyor açılır kapanıyor kapanır yönetiyor tercih sürüyor yazılmış yazıldı \
            barındırılıyor bağlı",
        measures: "tutuyor ağırlığında sürüyor kazanıyor ödüyor mal_oluyor",
        attributes: "zaman_aşımı süre* port* bütçe* fiyat* ücret* maaş* kira* adres* telefon* \
            numara* sürüm* yaş* boy* kilo* şifre* parola* sınır* limit* tarih* toplantı* müdür* \
            patron* yönetici* antrenör* doktor* dil* veritabanı* editör* dal* lisans* hız* \
            aralık* boyut* renk* reng* isim* ismi ad adı unvan* şehir* ofis* banka* sıcaklık* \
            kapasite* kuyruk* doğum_günü saati saat",
        personal: "maaş* yaş* kilo*",
        of_things: "fiyat* boyut* renk* reng* adı numara*",
        unique: "son güncel ana varsayılan resmi favori en_sevdiği",
        former: "eski önceki geçmiş eskiden",
        states: "açık kapalı | etkin devre_dışı | aktif pasif | evli bekar bekâr boşanmış | bozuk \
            çalışır",
        units: "saniye* dakika* saat* gün* hafta* ay yıl* lira* dolar* euro* avro* kilo* kg gram* \
            metre* km cm yüzde kişi* kez kere adet gb mb çalışan* katılımcı*",
        days: "pazartesi* salı* çarşamba* perşembe* cuma* cumartesi* pazar*",
        past: "ziyaret_etti gördü okudu yazdı izledi gitti yedi tanıştı",
        qualifiers: "sabah* akşam* gece* hafta_içi yazın kışın test üretim* sol sağ",
        regions: "türkiye almanya fransa italya ispanya avrupa ege karadeniz anadolu",
        home: "yaşıyor oturuyor taşındı",
        work: "çalışıyor istifa",
        marriage: "evli bekar bekâr evlendi boşandı boşanmış nişanlandı",
        counting: "_ iki üç dört beş altı yedi sekiz dokuz on",
        numbered: "pr mr rfc adr issue ticket sürüm* bilet* görev* sprint* bölüm* kat adım* aşama* faz* ders* sayfa* cilt \
            kısım sezon* hafta çeyrek fatura* sipariş* notları",
        renames: "yeniden_adlandırıldı",
        ..Claims::NOTHING
    },
    ..Lexicon::NOTHING
};
