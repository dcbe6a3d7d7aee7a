//! Portuguese.

use super::Lexicon;
use super::claims::Claims;

pub(super) const LEXICON: Lexicon = Lexicon {
    code: "pt",
    common: "o a os as um uma uns umas de do da dos das em no na nos nas num numa ao aos à às e ou \
        mas não sim nem que com por para pelo pela sem sobre entre até desde é são era eram foi \
        foram ser está estão estava estar tem têm tinha ter há havia fez faz pode podem quer vai \
        eu tu ele ela eles elas nós você vocês me te se lhe lhes meu minha meus minhas teu tua \
        seu sua seus suas nosso nossa este esta estes estas esse essa isso isto aquele aquela \
        aqui ali lá como mais menos muito muita muitos já também ainda sempre nunca nada algo \
        alguém tudo todo toda todos todas outro outra porque quando onde gosta gostam",
    stop_words: "a ao aos as à às com como da das de dela dele do dos e é ela elas ele eles em \
        entre era eram esse essa está estão este esta eu foi foram há isso isto já lhe mas me meu \
        meus minha minhas na nas no nos nós nossa nosso num numa o onde os ou para pela pelo por \
        porque quais qual quando quanta quantas quanto quantos que quem se sem ser seu seus sua \
        suas são te tem têm tu um uma umas uns você vocês",
    time: "ontem anteontem hoje amanhã semana semanas mês meses ano anos dia dias segunda terça \
        quarta quinta sexta sábado domingo feira manhã tarde noite madrugada hora horas minuto \
        minutos passado passada próximo próxima último última atrás desde recentemente logo \
        antes depois verão inverno primavera outono natal páscoa século década",
    kin: "mãe mamãe pai papai irmã irmãs irmão irmãos filho filha filhos filhas esposa esposo \
        marido mulher amigo amiga amigos amigas família pais criança crianças avó avô avós neto \
        neta tia tio primo prima sobrinho sobrinha namorado namorada noivo noiva companheiro \
        companheira colega colegas chefe mentor mentora equipe equipa vizinho vizinha vizinhos \
        sogra sogro cunhado cunhada professor professora médico médica",
    months: [
        "janeiro #jan",
        "fevereiro #fev",
        "*março #mar",
        "abril #abr",
        "*maio #mai",
        "junho #jun",
        "julho #jul",
        "agosto #ago",
        "setembro #set",
        "outubro #out",
        "novembro #nov",
        "dezembro #dez",
    ],
    in_month: "em de desde até do",
    asks: "por é são era foi está estão tem têm pode há",
    when: "quando",
    place: "onde aonde",
    who: "quem",
    which: "que qual quais",
    how: "como quanto quanta quantos quantas",
    named: "cidade cidades livro livros nome nomes país países lugar canção música músicas filme \
        filmes jogo empresa companhia banda grupo artista escola universidade restaurante hotel \
        rua língua idioma",
    called: "chama chamam chamava",
    times: "tempo data dia dias mês meses semana semanas ano anos hora horas minutos",
    numbers: "dois duas três quatro cinco seis sete oito nove dez onze doze cem mil",
    conditions: "before: antes_de antes_do antes_da pouco_antes_de pouco_antes_do | until: até até_ao até_a | \
        since: desde a_partir_de | after: depois_de após | between: entre | and: e | beginning: início começo \
        princípio primeiros_dias_de | middle: meados meio | end: fim final | in: em durante | newest: \
        última_vez por_último mais_recente | oldest: no_início primeiro inicialmente no_começo originalmente | \
        what: que qual quais | why: por_que | follows: substituiu veio_depois_de veio_depois_do veio_depois_da \
        | precedes: substituído_por substituída_por | while: no_tempo_de no_tempo_do | when: quando enquanto | \
        decides: escolhemos decidimos adotamos optamos | cuts: era eram é como qual onde | past: era eram \
        tínhamos tinha estava | units: dia dias semana semanas mês meses ano anos noite",
    claims: Claims {
        now: "desde_hoje desde_ontem a_partir_de_hoje agora atualmente hoje_em_dia a_partir_de_agora de_agora_em_diante desde_já doravante",
        ends: "já_não não…mais nunca_mais deixou_de parou_de deixaram_de pararam_de largou_o \
            desistiu_de abandonou",
        disposes: "vendeu vendido vendida venderam vendi perdeu perdi jogou_fora deitou_fora cancelou \
            cancelado cancelada cancelaram anulado anulada apagou apagado apagada eliminou morreu \
            faleceu doou devolveu roubaram roubado roubada excluiu",
        closes: "terminou terminado terminada acabou concluiu concluído concluída fechou fechado \
            fechada consertou consertado consertada consertaram resolveu resolvido resolvida \
            reparado reparada recuperou divorciou divorciado divorciada aposentou formou_se \
            se_formou corrigido corrigida arranjado arranjada encerrado encerrada",
        changes: "mudou mudou-se mudaram mudaram-se mudado mudada passou passou_a migrou migraram \
            migrado trocou trocaram trocado transferiu transferido transferida adiado adiada \
            adiaram adiou antecipado antecipada antecipou remarcado remarcada aumentou aumentado \
            aumentada aumentaram subiu subiram desceu baixou reduziu reduzido reduzida caiu \
            alterado alterada alterou atualizado atualizada atualizou substituído substituída \
            substituiu renomeado renomeada renomeou rebatizado virou tornou-se promovido promovida \
            prorrogado prorrogada dobrou duplicou converteu",
        begins: "comprou comprei compraram começou começaram iniciou casou casou-se contratado \
            contratada novo nova adotou entrou aceitou",
        leaves: "saiu_da saiu_do saiu_de pediu_demissão demitiu-se demitido demitida despedido \
            despedida largou deixou_a deixou_o",
        corrects: "na_verdade correção retificação enganei-me me_enganei errei erro por_engano aliás \
            na_realidade quis_dizer",
        replaces: "em_vez_de em_vez_do em_vez_da ao_invés_de no_lugar_de no_lugar_do no_lugar_da em_lugar_de",
        contrasts: "mas senão",
        adds: "também além_disso além_de outro outra outros outras segundo segunda terceiro terceira \
            ambos ambas mais_um mais_uma não_só igualmente",
        hedges: "talvez se_fosse se_tivesse se_pudesse como_se poderia poderiam pode podem quer querem queria gostaria provavelmente \
            possivelmente pensa pensam pensando acha acham acredita disse diz dizem parece \
            considera considerando espera sonha planeja planeia pretende deveria supostamente \
            imagina conta afirma rumores quiçá porventura seria teria estaria quase propõe",
        temporary: "hoje amanhã ontem esta_semana essa_semana nesta_semana este_mês neste_mês \
            este_fim_de_semana semana_que_vem semana_passada próxima_semana temporariamente \
            provisoriamente por_enquanto por_uma_semana por_um_mês até de_férias em_viagem \
            em_visita visitando de_passagem",
        partly: "só somente apenas às_vezes por_vezes frequentemente geralmente normalmente \
            raramente quando exceto principalmente sobretudo em_parte durante",
        denies: "não nem sem nunca jamais nenhum nenhuma ninguém nada",
        from: "de do da dos das",
        to: "para pro pra ao à a",
        user: "utilizador utilizadora usuário usuária",
        be: "é são era eram fica será",
        have: "tem têm possui possuem",
        prepositions: "de do da dos das em no na nos nas num numa a ao à aos às com por para pelo \
            pela sobre entre até desde sob cerca como às",
        function: "e ou que se lhe me te muito muita assim aqui ali lá o_que foi foram sido está estão \
            ser estar ter",
        owners: "seu sua seus suas meu minha meus minhas teu tua nosso nossa dele dela este esta esse \
            essa aquele aquela",
        indefinite: "um uma uns umas alguns algumas vários várias muitos muitas",
        kin: "cachorro cachorra cão gato gata coelho cavalo cliente clientes inquilino inquilina \
            gêmeo gêmea hóspede",
        not_kin: "chefe equipe equipa professor professora médico médica mentor mentora mulher",
        many: "entrega_em entrega…em adora ama fala falam conhece lê ouve assiste come bebe bebem coleciona toca odeia \
            detesta apoia visita aprende sabe alérgico alérgica joga possui possuem gosta gostam \
            recomenda aprecia",
        one: "mora moram vive vivem reside trabalha trabalham estuda usa usam utiliza prefere \
            preferem dirige conduz chama-se chama começa termina abre fecha parte chega frequenta \
            lidera gerencia gere responde dura demora roda hospedado escrito escrita expira \
            alugado alugada hospedada",
        measures: "custa custam pesa pesam ganha paga dura demora mede leva \
            limitado limitada limitados limitadas guardado guardada guardados guardadas",
        uses: "usa usam utiliza utilizam dirige conduz",
        attributes: "tempo_limite timeout limite porta orçamento preço custo salário aluguel aluguer \
            renda endereço morada telefone número versão idade altura peso senha prazo data reunião \
            consulta chefe líder diretor diretora gerente treinador médico dentista idioma língua \
            framework editor ramo licença tarifa velocidade intervalo tamanho cor nome apelido \
            cidade escritório banco temperatura capacidade fila aniversário horário cargo profissão \
            frequência base_de_dados banco_de_dados responsável",
        personal: "salário idade altura peso aniversário",
        of_things: "preço tamanho peso cor nome número capacidade temperatura",
        unique: "último última atual principal padrão oficial favorito favorita",
        former: "ex antigo antiga anterior anteriores antes primeiro primeira",
        several: "entre_os entre_as passaporte assinatura bilhete certificado inclui incluem amigo amiga reunião curso livro filme canção música aula trem comboio voo gato \
            cachorro filho filha irmão irmã colega pacote pedido fatura receita",
        states: "aberto aberta fechado fechada | ligado ligada desligado desligada ativo ativa \
            inativo inativa ativado desativado | pronto pronta em_andamento | solteiro solteira \
            casado casada divorciado divorciada | quebrado quebrada avariado avariada consertado \
            consertada | desempregado desempregada aposentado aposentada | público privado",
        units: "segundo segundos minuto minutos hora horas dia dias semana semanas mês meses ano \
            anos euros reais dólares kg quilos gramas km metros cm mb gb tb ms porcento litros \
            graus pessoas funcionários páginas vezes pontos pedidos h",
        days: "segunda-feira terça-feira quarta-feira quinta-feira sexta-feira sábado domingo \
            segunda terça quarta quinta sexta",
        seasons: "primavera verão outono inverno",
        past: "visitou encontrou leu viu escreveu comeu jogou ganhou correu participou foi_a viajou \
            fez conheceu",
        qualifiers: "manhã tarde noite madrugada verão inverno produção testes homologação \
            desenvolvimento direita esquerda direito esquerdo",
        regions: "portugal brasil espanha frança alemanha itália angola europa algarve alentejo minas \
            bahia paraná interior exterior",
        verbs: "vai vem põe dorme corre chega serve depende pertence fuma fumam nada cozinha canta \
            envia contém",
        titles: "dr dra sr sra doutor doutora dona",
        idioms: "nada_mal sem_dúvida mais_ou_menos",
        home: "mora moram vive vivem reside mudou mudou-se casa apartamento",
        work: "trabalha trabalham contratado contratada demitido demitida emprego",
        marriage: "solteiro solteira casado casada divorciado divorciada casou",
        counting: "_ dois/duas três quatro cinco seis sete oito nove dez",
        past_endings: "ou",
        auxiliaries: "tem têm foi foram",
        participles: "*ado *ada *ido *ida",
        articles: "o a os as um uma uns umas",
        finite: "é são era está estão tem têm",
        joins: "e ou mas porque que",
        numbered: "versão release lançamento ticket sprint capítulo pr rfc andar piso passo fase \
            episódio lição aula iteração seção secção página volume parte temporada semana \
            trimestre nível rodada sala fatura pedido caso artigo lote migração notas chamado issue",
        renames: "renomeado renomeada renomeou rebatizado rebatizada passou_a_chamar-se \
            passou_a_se_chamar",
        ..Claims::NOTHING
    },
    ..Lexicon::NOTHING
};
